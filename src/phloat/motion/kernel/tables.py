"""Columns of the integer tables of offsets in the flat buffers.

`data` has the constants of bodies (equal bodies share them), `w` all that changes: states, unknowns, workspaces. Tables have one
row per body, end (a port with a joint or element), entry (a connection of two ends), row (a scalar row of an entry) and incidence
(an end whose entry has unknown multipliers). Types never change, so the kernel is compiled once per installation.
"""

# --- bodies ----------------------------------------------------------------------------------------------------------
# sizes: deformation coordinates, linear and angular velocities that exist, unknowns in all, quadratic strains, strips of Q
N_ETA, N_LIN, N_ROT, SIZE, N_STRAIN, N_QUAD = range(6)
# in data: mass, J(η) = j0 + j1·η + ½ηNη by pairs of axes, c(η) = c0 + Γη, M_ff, K, R_d, membrane D and values of Q;
# after the mass the time of damping, and where it couples membrane stresses their matrix (strains × strains)
D_MASS, D_J0, D_J1, D_N, D_C0, D_GAMMA, D_MFF, D_K, D_RD, D_D, D_Q = range(6, 17)
I_QUAD = 17  # in index: strips of four rows of Q: strain, first row, number of columns, columns
# in w: q = (r, A, η), v = (V, ω, η̇), unknowns x = (V̄, ω̄, η̄̇), where q ends, Q = Ā⁻ᵀ, forces of ports, residual
W_Q, W_V, W_X, W_Q1, W_QT, W_GAM, W_F = range(18, 25)
# parts of q and v, of the momenta (p_ω, p_η), and in data after the mass
Q_A, Q_ETA, V_OMEGA, V_RATE = 3, 12, 3, 6
MOMENTUM_ETA = 3
TIME, VISCOSITY = 1, 2
# at the start of a step: J, ∂J, c, p = (p_ω, p_η), the constant part b of F_η, ε + pre-stress, Γη̇₀; of the kind: D0, its rounding
W_J, W_DJ, W_C, W_P, W_B, W_EPS, W_G0, W_D0 = range(25, 33)
# of an iteration: ∂J(η̄), (Γv, η̇₁), B(η̄), B(η₁) (shared by all bodies); D_i and then its inverse, correction, scales, (D⁻¹Gᵀ)ᵀ
W_NV, W_GV, W_BM, W_B1, W_D, W_Y, W_SCALE, W_UNIT, W_SOL = range(33, 42)
W_PRE, W_FPRE = 42, 43  # pre-stress: of the quadratic strains (unit compliance), and DᵀS of the linear ones as a force
# unknowns, to a multiple of four; incidences; multipliers that touch this body
WIDE, FIRST_INC, N_INC, N_MULT = range(44, 48)
# earlier unknowns; energies; damping losses; p̄_ω; angle in a plane; mean membrane stress; kind of damping; size of the port forces
W_OLD, W_OLDER, W_ENERGY, W_LOSS, W_PM, W_THETA, W_SBAR, DAMPED, W_OLDEST, W_PORTS = range(48, 58)
PLAIN, COUPLED = 1, 2  # damping: of membrane strains one by one, or by a matrix
I_STRAINS = 58  # in index: where the strains of each coordinate are listed
W_DW = 59  # in w, of the kind: the constant part of D, wide × wide
FIRST_END, N_END = 61, 62  # in the list of ends by body
LONG = 60  # deformation coordinates, to a multiple of four: rows of numbers by coordinate are padded with zeros
W_T = 63  # in w: scratch of the range of the body
BODY_COLUMNS = 64  # rows of 256 bytes

# --- ends ------------------------------------------------------------------------------------------------------------
# body (−1 is the ground), entry, in data Φ (linear × n), Ψ (angular × n), x; in w the port at start, end and in the mean
E_BODY, E_PHI, E_PSI, E_X, E_START, E_END, E_MEAN, E_FRAME0, E_FRAME1, E_OUT, E_TURNS, E_ENTRY = range(12)
E_SHORT = 12  # in data Φ₂ (n × n) of the displacement ½ ηΦ₂η along the axis x of the body; 0: none
END_COLUMNS = 13
# E_TURNS: directions as joints hold them, or the axes of the section, for forces that follow it; AREA is no port but the surface
# of a pressure: E_X, E_PHI, E_PSI are the constant, linear and quadratic parts (−1: none) of its rows (kernel/area.py), and what
# is a port elsewhere is the generalised force of a pressure of one, then its workspace
PLAIN_TRIAD, ORTHONORMAL, AREA = 1, 2, 3
# a port: place c, arm A y, directions d_i, directions in the body t_i (rows), turn ψ = Ψη of its section; Φ₂η after it, if any
C, ARM, DIR, TRIAD, TURNED, PORT_SIZE = 0, 3, 6, 15, 24, 28
POINT_SIZE = 8  # place and arm, to a multiple of four
# what acts on a port: force, forces on its directions, torque
FORCE, ON_DIR, TORQUE, OUT_SIZE = 0, 3, 12, 16
FRAME_DIR, FRAME_SIZE = 3, 12  # of a moving frame: place (ground only) and directions

# --- entries ---------------------------------------------------------------------------------------------------------
# ends, rows, place of λ, whether λ is unknown, works on both ends in w, incidences, diagonal block of S in w, whether any row is
# geometric, and whether any has a law and no gap
J_A, J_B, J_ROW, J_ROWS, J_LAM, J_UNKNOWN, J_WORK, J_INC_A, J_INC_B, J_BLOCK, J_EXTRA, J_RATES = range(12)
ENTRY_COLUMNS = 12

# --- rows ------------------------------------------------------------------------------------------------------------
# g = f(p, q): the function, in terms the first of p and how many, of q how many; i where the row is just c · e_i, else −1; the
# power of a length in its gap; whether a velocity or spin row is along directions of B; its mode (closed, compliant, given)
R_FUNCTION, R_TERM, R_P, R_Q, R_AXIS, R_POWER, R_FOLLOWS, R_MODE, R_COEF, R_LAW = range(10)
R_SPRING, R_N_SPRING, R_DAMPER, R_N_DAMPER, R_DROPPED = range(10, 15)
R_CALL = 15  # in index: the address of a law that is written as functions; −1: none
ROW_COLUMNS = 16
PRODUCT, LENGTH, ANGLE, ROTATION, VELOCITY, SPIN = range(6)  # as in joints.rows.FUNCTIONS
CLOSED, COMPLIANT, GIVEN = range(3)
# a term α (a · b): numbers of the two vectors, as in joints.rows, and where in data α stands
T_A, T_B, T_FACTOR = range(3)
TERM_COLUMNS = 3
# of a row in w: slopes of f by p and q in the mean and at the end (2 + 2), gap and target at start and end, weight of the row in S,
# the cosine of the turn up to which it is meant (−1: any)
COEF_MEAN, COEF_END, GAP0, GAP1, TARGET0, TARGET1, ALPHA, TURN_COSINE = 0, 2, 4, 5, 6, 7, 8, 9
# extremes for its law: minimum and maximum elongation (rotations: minimum cosine of the turn), minimum and maximum rate, and
# the step at which each first left the range of the law (infinity: never)
LEAST, MOST, SLOWEST, FASTEST, LEFT, LEFT_RATE = 10, 11, 12, 13, 14, 15
# outputs of a law written as functions: effort, weight, energy
LAW_OUT, ROW_SIZE = 16, 19
# of a law in w, followed by the numbers of its functions
STIFFNESS, REST, DAMPING, LAW_SIZE = range(4)
# of piecewise polynomials in data: number of coefficients, bounds, then of each piece the origin, the integral up to it,
# and coefficients
P_ORIGIN, P_AREA, P_FIRST = 0, 1, 2

# --- incidences ------------------------------------------------------------------------------------------------------
G_END, G_ENTRY, G_ROWS, G_COLUMN, G_MEAN, G_HAT = range(6)
INC_COLUMNS = 6

# --- scratch at the start of w -----------------------------------------------------------------------------------------
SCRATCH, OUT_A, OUT_B, SCRATCH_SIZE = 0, 64, 80, 128
# and in it: tolerance of residuals (round-offs), cost of new factors (iterations), a reference length,
# the step size for the other threads
TOLERATED, COSTLY, FLOOR, STEP = 120, 121, 122, 123
LARGEST = 112  # the largest residual of the bodies of a range, and its body
# --- KernelModel.offsets: offsets in w of the vectors on all multipliers, and their sizes -----------------------
LAM, RIGHT, PIVOTS, S_AT, S_SIZE, DELTA, MULTIPLIERS, SAVED = range(8)
# --- header of iw ------------------------------------------------------------------------------------------------------
I_FACTORED, I_ITERATIONS, I_FACTORISATIONS, I_STEPS, I_STALLED, I_LOST = range(6)
I_WORST_BODY, I_WORST_ENTRY, I_STARTED, I_MOST = range(6, 10)
I_SET, I_OTHER = 10, 11  # index of the set of factors in w, and whether the other set, in the bank, is computed
I_HEADER = 16
