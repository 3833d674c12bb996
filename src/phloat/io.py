"""Files: models, meshes, saved runs and ensembles, and systems to and from other programs."""

from phloat.control.exports import (
    from_control as from_control,
    from_matlab as from_matlab,
    from_scipy as from_scipy,
    to_control as to_control,
    to_matlab as to_matlab,
    to_scipy as to_scipy,
)
from phloat.control.fmu import to_fmu as to_fmu
from phloat.fem.mesh_files import read_mesh as read_mesh, write_mesh as write_mesh
from phloat.files.model import Model as Model
from phloat.files.model_files import load_model as load_model, parse_model as parse_model, save_model as save_model
from phloat.files.runs import (
    ModesAlong as ModesAlong,
    load_result as load_result,
    run_model as run_model,
    run_modes as run_modes,
    run_response as run_response,
    run_sweep as run_sweep,
)
from phloat.files.urdf import load_urdf as load_urdf
from phloat.linear.form.titop import (
    Titop as Titop,
    connect_titop as connect_titop,
    from_titop as from_titop,
    to_titop as to_titop,
)
from phloat.linear.reduction.pymor import from_pymor as from_pymor, to_pymor as to_pymor
from phloat.many.results import load_ensemble as load_ensemble
from phloat.motion.saving.recorder import save_result as save_result
from phloat.view.export import to_netcdf as to_netcdf, to_vtu as to_vtu
