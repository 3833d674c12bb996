"""How do simply supported plates with shear deformation vibrate, thick and thin? (Mindlin, 1951; the exact series.)

Waves sin mπx/a sin nπy/a are exact modes, each of a 3 × 3 problem. The elements (MITC: shear strain from few points) come to them
with order four for h/a = 0.1 and for 0.01: nothing locks where the plate is thin.
"""

import numpy as np
import scipy.linalg as la

import phloat as ph

material = ph.Material(E=2.6, rho=1.0, nu=0.3)  # G = 1: frequencies are ω a √(ρ/G) for a = 1
waves = ((1, 1), (1, 2), (2, 1), (2, 2))
cells = (4, 8, 16)


def exact(h: float, m: int, n: int) -> float:
    """Lowest pulsation of w = W sin αx sin βy, θ_x = X cos αx sin βy, θ_y = Y sin αx cos βy, with κ = 5/6."""
    a, b, nu = m * np.pi, n * np.pi, material.nu
    D, shear = material.E * h**3 / (12 * (1 - nu**2)), 5 / 6 * material.G * h
    bent = D * np.array([[a**2, nu * a * b], [nu * a * b, b**2]])
    bent += D * (1 - nu) / 2 * np.array([[b**2, a * b], [a * b, a**2]])
    K = np.zeros((3, 3))
    K[1:, 1:] = bent
    strain = np.array([[a, 1.0, 0.0], [b, 0.0, 1.0]])  # γ = ∇w + θ
    M = material.rho * np.diag([h, h**3 / 12, h**3 / 12])
    return float(np.sqrt(la.eigh(K + shear * strain.T @ strain, M, eigvals_only=True)[0]))


def found(h: float, n: int) -> np.ndarray:
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=h, material=material, theory="mindlin", supported="all")
    return plate.discretise(n).modes(4)[0]


thickness = (0.1, 0.01)
series = {h: np.array([exact(h, m, n) for m, n in waves]) for h in thickness}
omega = {h: np.array([found(h, n) for n in cells]) for h in thickness}
error = {h: np.abs(omega[h] / series[h] - 1.0) for h in thickness}  # (meshes, modes)
rate = {h: np.log2(error[h][:-1] / error[h][1:]) for h in thickness}

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    for h in thickness:
        print(f"h/a = {h}: {omega[h][-1].round(6)}, exact {series[h].round(6)}")
        print(f"  errors of the first {error[h][:, 0]}, order {rate[h][:, 0].round(2)}")
        plt.loglog(1 / np.array(cells), error[h][:, 0], "o-", label=f"h/a = {h}")
        plt.loglog(1 / np.array(cells), error[h][:, 3], "s--", label=f"h/a = {h}, mode 4")
    plt.gca().set(xlabel="size of cells / a", ylabel="error of ω, relative")
    plt.grid(alpha=0.3, which="both")
    plt.legend()
    plt.show()
