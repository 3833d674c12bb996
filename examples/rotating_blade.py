"""How do the frequencies of a blade rise with the speed of its hub, and where does the hub excite it? (Campbell diagram.)

A cantilever on a hub of no radius: centrifugal force stiffens it. With γ = Ω L² √(ρA/EI) the flap frequencies (out of the plane
of the spin) are λ √(EI/ρAL⁴) with the table's λ, and in that plane the first lags behind them by λ² − γ².
"""

import numpy as np

import phloat as ph

length, EI, rho_A = 10.0, 1.4e4, 1.2
blade = ph.Beam(length, ph.Section(A=1.0, I=5e-4, J=1e-3), ph.Material(E=2.8e7, rho=1.2, nu=0.3)).discretise(10)
rotor = ph.connect({"blade": blade}, joints=[ph.Drive("ground", "blade.P", of="pose", name="hub")])

unit = np.sqrt(EI / (rho_A * length**4))  # rad/s for λ = 1 and γ = 1
gamma = np.arange(1, 9)
diagram = ph.campbell(rotor, gamma * unit, axis=(0, 0, 1), count=4)
lag_1, flap_1, lag_2, flap_2 = diagram.omega.T / unit

table = {1: (3.681647, 22.181011), 2: (4.137320, 22.614922), 4: (5.585001, 24.273349), 8: (9.256838, 29.995382)}
exact = np.array(list(table.values()))
at = np.array(list(table)) - 1
flap_error = np.column_stack([flap_1, flap_2])[at] / exact - 1
lag_error = lag_1[at] / np.sqrt(exact[:, 0] ** 2 - gamma[at] ** 2) - 1
critical = diagram.critical(order=2)  # rad/s: where two blows a turn meet a mode

if __name__ == "__main__":
    print("  γ      lag 1     flap 1    lag 2     flap 2")
    for row in zip(gamma, lag_1, flap_1, lag_2, flap_2, strict=True):
        print("  {:d}  {:9.5f} {:9.5f} {:9.5f} {:9.5f}".format(*row))
    print(f"flap within {np.abs(flap_error).max():.1e}, lag within {np.abs(lag_error).max():.1e} of the table")
    print(f"2Ω meets a mode at Ω = {', '.join(f'{rate:.3f}' for rate in critical)} rad/s")
    ph.plot(diagram).savefig("rotating_blade.png", dpi=150)
