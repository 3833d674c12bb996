"""Controllers: passive ones, LQG, energy shaping, input shaping, sampling; the closed loop and its certificate."""

from phloat.control.closed_loop import (
    LoopLedger as LoopLedger,
    PassivityCertificate as PassivityCertificate,
    closed_loop as closed_loop,
    loop_ledger as loop_ledger,
    loop_poles as loop_poles,
    passivity_certificate as passivity_certificate,
)
from phloat.control.energy_shaping import energy_shaping as energy_shaping
from phloat.control.feedback import Feedback as Feedback, lqg as lqg
from phloat.control.input_shaping import shape_input as shape_input, shaper_impulses as shaper_impulses
from phloat.control.optimal import (
    Observer as Observer,
    Regulator as Regulator,
    kalman as kalman,
    lqr as lqr,
    passive_observer as passive_observer,
)
from phloat.control.passive import (
    PassiveController as PassiveController,
    combine_controllers as combine_controllers,
    damping_gain as damping_gain,
    damping_injection as damping_injection,
    passive_controller as passive_controller,
    passive_pid as passive_pid,
)
from phloat.control.sampled import Sampled as Sampled
from phloat.control.servo import Servo as Servo, sampled_loop_poles as sampled_loop_poles, servo as servo
