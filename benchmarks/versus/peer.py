"""Exudyn as someone who knows it would set it up: links of ANCF cable elements in the plane, solver settings, energies.

The fast module (no range checks, AVX2), implicit trapezoidal rule with constraints at velocity level (index 2), modified Newton
that keeps the Jacobian over steps as long as it contracts, loosened tolerances, dense or sparse LU, one thread, nothing written.
"""

import exudyn as exu
import exudyn.itemInterface as Item
import numpy as np
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from workers import clocked

KINETIC, ELASTIC = exu.OutputVariableType.KineticEnergy, exu.OutputVariableType.PotentialEnergy
KEPT = []  # symbolic functions: Exudyn does not keep them alive itself
PLACE = exu.OutputVariableType.Position


def settings(
    t_end, steps, every, solver="EigenSparse", tolerance=1e-4, absolute=1e-6, contraction=0.1, rho=1.0, anew=False
):
    """Trapezoidal rule at index 2 for rho = 1, generalised α at index 3 below; sensors are kept `every` so many steps.

    `anew` makes a Jacobian in every step; else it is kept as long as errors contract by `contraction`.
    """
    out = exu.SimulationSettings()
    integration = out.timeIntegration
    integration.numberOfSteps, integration.endTime, integration.verboseMode = steps, t_end, 0
    integration.newton.useModifiedNewton = True
    integration.newton.modifiedNewtonContractivity = contraction
    integration.newton.modifiedNewtonJacUpdatePerStep = anew
    integration.newton.relativeTolerance = tolerance
    integration.newton.absoluteTolerance = absolute
    integration.generalizedAlpha.spectralRadius = rho
    integration.generalizedAlpha.useIndex2Constraints = rho == 1.0
    integration.generalizedAlpha.useNewmark = rho == 1.0
    out.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
    out.linearSolver.reuseAnalyzedPattern = True
    out.parallel.numberOfThreads = 1
    out.solution.file.write = False
    out.solution.sensors.writePeriod = every * t_end / steps
    out.show.statistics = out.show.computationTime = False
    return out


class Model:
    """A system being put together: its cables and bodies, and what is looked at."""

    def __init__(self):
        self.mbs = exu.SystemContainer().AddSystem()
        self.ground = self.mbs.AddObject(Item.ObjectGround())
        self.still = self.coordinate(self.mbs.AddNode(Item.NodePointGround()), 0)
        self.bodies, self.cables, self.seen, self.energies, self.heights, self.powers = [], [], [], [], [], []
        self.gravity = 0.0

    def coordinate(self, node, k):
        return self.mbs.AddMarker(Item.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))

    def place(self, node):
        return self.mbs.AddMarker(Item.MarkerNodePosition(nodeNumber=node))

    def on_ground(self, x=0.0, y=0.0):
        return self.mbs.AddMarker(Item.MarkerBodyPosition(bodyNumber=self.ground, localPosition=[x, y, 0]))

    def hinge(self, first, second):
        return self.mbs.AddObject(Item.ObjectJointRevolute2D(markerNumbers=[first, second]))

    def symbolic(self, function, name, kind):
        """A function of time that Exudyn evaluates without Python."""
        KEPT.append(CreateSymbolicUserFunction(self.mbs, function, name, itemTypeName=kind))
        return KEPT[-1]

    def tie(self, first, second, **options):
        """Two coordinates are the same, or differ by an offset; or their rates are (velocityLevel)."""
        return self.mbs.AddObject(Item.ObjectConnectorCoordinate(markerNumbers=[first, second], **options))

    def link(self, start, length, elements, line_mass, EI, EA, gravity=0.0, velocity=lambda s: [0, 0, 0, 0]):
        """A straight link along x from `start`: its nodes. `velocity(s)` of position and slope at the fraction s."""
        nodes = [
            self.mbs.AddNode(
                Item.NodePoint2DSlope1(
                    referenceCoordinates=[start + length * k / elements, 0, 1, 0],
                    initialVelocities=velocity(k / elements),
                )
            )
            for k in range(elements + 1)
        ]
        for k in range(elements):
            cable = self.mbs.AddObject(
                Item.ObjectANCFCable2D(
                    length=length / elements,
                    massPerLength=line_mass,
                    bendingStiffness=EI,
                    axialStiffness=EA,
                    nodeNumbers=nodes[k : k + 2],
                    useReducedOrderIntegration=1,
                )
            )
            self.cables.append((cable, length / elements, line_mass * length / elements))
            self.bodies.append(cable)
            if gravity:
                whole = self.mbs.AddMarker(Item.MarkerBodyMass(bodyNumber=cable))
                self.mbs.AddLoad(Item.LoadMassProportional(markerNumber=whole, loadVector=[0, -gravity, 0]))
        self.gravity = gravity
        return nodes

    def middle(self, nodes, length):
        """Looks at the middle of a link: a node, or the middle of an element."""
        half, odd = divmod(len(nodes) - 1, 2)
        if not odd:
            return self.look_at(nodes[half])
        cable = self.cables[-(len(nodes) - 1) + half][0]
        return self.seen.append(self._sensor(cable, [0.5 * length / (len(nodes) - 1), 0, 0], PLACE))

    def look_at(self, node):
        self.seen.append(
            self.mbs.AddSensor(Item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=PLACE))
        )

    def look_at_marker(self, marker):
        self.seen.append(
            self.mbs.AddSensor(Item.SensorMarker(markerNumber=marker, storeInternal=True, outputVariableType=PLACE))
        )

    def weigh(self):
        """Sensors of kinetic, elastic and gravitational energy: cubic elements, so three points give the mean height."""
        self.energies = [self._sensor(body, [0, 0, 0], what) for body in self.bodies for what in (KINETIC, ELASTIC)]
        for cable, length, mass in self.cables if self.gravity else ():
            for x, weight in ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6)):
                sensor = self._sensor(cable, [x * length, 0, 0], PLACE)
                self.heights.append((sensor, weight * mass * self.gravity))

    def supply(self, tie, rate):
        """A tie that moves what it holds at this rate, a number or a function of times: its force does work."""
        sensor = Item.SensorObject(
            objectNumber=tie, storeInternal=True, outputVariableType=exu.OutputVariableType.Force
        )
        self.powers.append((self.mbs.AddSensor(sensor), rate))

    def _sensor(self, body, at, what):
        return self.mbs.AddSensor(
            Item.SensorBody(bodyNumber=body, localPosition=at, storeInternal=True, outputVariableType=what)
        )

    def stored(self, sensor):
        """What a sensor saw, without the time."""
        return self.mbs.GetSensorStoredData(sensor)[:, 1:]

    def weigh_mass(self, body, nodes, weights, weight):
        """The height of the centre of a body of nodes: weights are their parts of its mass."""
        marker = self.mbs.AddMarker(
            Item.MarkerSuperElementPosition(bodyNumber=body, meshNodeNumbers=nodes, weightingFactors=weights)
        )
        sensor = Item.SensorMarker(markerNumber=marker, storeInternal=True, outputVariableType=PLACE)
        self.heights.append((self.mbs.AddSensor(sensor), weight))

    def energy(self):
        """At every time seen, the start first, less the work of what moves by itself (trapezoids over the steps)."""
        out = sum(self.stored(sensor)[:, 0] for sensor in self.energies)
        for sensor, rate in self.powers:
            t, force = self.mbs.GetSensorStoredData(sensor).T
            power = force * (rate(t) if callable(rate) else rate)
            out = out + np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t))])
        return out + sum(weight * self.stored(sensor)[:, 1] for sensor, weight in self.heights)

    def coordinates(self):
        return int(self.mbs.systemData.ODE2Size())


def solved(build, t_end, steps, every, look, energy=False, free_from=0.0, **options):
    """A run: its times, what `look` makes of the places seen, and how much work Newton's method had.

    `energy` counts it too (and spoils the time); its drift is looked at from the time on at which loads are gone.
    """

    def ready():
        model = build()
        if energy:
            model.weigh()
        model.mbs.Assemble()
        return model

    chosen = settings(t_end, steps, every, **options)

    def go(model):
        return model.mbs.SolveDynamic(chosen, showCausingItems=False)

    model, success, took = clocked(ready, go)
    if not success:
        return {"failed": "Newton's method of Exudyn did not converge"}
    effort, times = model.mbs.sys["dynamicSolver"].it, model.mbs.GetSensorStoredData(model.seen[0])[:, 0]
    if np.abs(times[-1 - (steps // every) :] - np.linspace(0.0, t_end, steps // every + 1)).max() > 0.1 * t_end / steps:
        return {"failed": "Exudyn had to make its steps smaller"}
    out = took | {
        "values": np.asarray(look([model.stored(sensor) for sensor in model.seen])).tolist(),
        "coordinates": model.coordinates(),
        "steps": steps,
        "iterations": effort.newtonStepsCount / steps,
        "factorisations": effort.newtonJacobiCount / steps,
    }
    if energy:
        total = model.energy()[times >= free_from]
        out["drift"] = float(np.abs(total - total[0]).max())
        out["kinetic"] = float(max(sum(model.stored(s)[:, 0] for s in model.energies[::2])))
    return out
