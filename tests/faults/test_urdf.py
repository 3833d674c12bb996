"""URDF files that are wrong, and beams that do not fit, are refused with a sentence."""

import pytest
from messages import raises

import phloat as ph

GOOD = """<robot name="r">
  <link name="base"/>
  <link name="a">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="1"/>
      <inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/>
    </inertial>
  </link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
  <joint name="one" type="revolute">
    <parent link="base"/>
    <child link="a"/>
    <axis xyz="0 0 1"/>
  </joint>
  <joint name="two" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <origin xyz="0.2 0.1 0" rpy="0 0 0"/>
  </joint>
</robot>
"""
WRONG = [
    ('<robot name="r">', '<!DOCTYPE r [<!ENTITY a "b">]><robot name="r">', 1, ""),
    ('<robot name="r">', '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="r">', 1, ""),
    ('<robot name="r">', "<world>", 21, ""),
    ("</robot>", "", 22, ""),
    ('<link name="base"/>', "<link/>", 2, "'name'"),
    ('<link name="base"/>', '<link name="a"/>', 3, "'a'"),
    ('<link name="base"/>', '<link name="base.link"/>', 2, "'base.link'"),
    ('<mass value="1"/>', '<mass value="one"/>', 6, "'one'"),
    ('<mass value="1"/>', '<mass value="nan"/>', 6, "'nan'"),
    ('<mass value="1"/>', '<mass value="-1"/>', 6, "-1"),
    ('<mass value="1"/>', '<mass value="0"/>', 3, "'a'"),
    ('<mass value="1"/>', "", 4, "<mass"),
    ('ixx="1e-3" iyy', 'ixx="1" iyy', 3, "'a'"),
    ('ixx="1e-3" iyy', "iyy", 7, "'ixx'"),
    ('<origin xyz="0.1 0 0"/>', '<origin xyz="0.1 0"/>', 5, "'0.1 0'"),
    ('type="revolute"', 'type="revolut"', 11, "'revolut'"),
    ('<parent link="base"/>', '<parent link="bas"/>', 11, "'bas'"),
    ('<parent link="base"/>', "", 11, "<parent"),
    ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', 14, "'one'"),
    ('<axis xyz="0 0 1"/>', '<dynamics damping="-1"/>', 11, "'one'"),
    ('<child link="b"/>', '<child link="a"/>', 16, "'a'"),
    ('<parent link="base"/>', '<parent link="b"/>', 1, "a, b"),
    ('<link name="base"/>', '<link name="base"/><link name="other"/>', 1, "base, other"),
    ('<joint name="two"', '<joint name="one"', 16, "'one'"),
]


def load(text: str, tmp_path, *arguments, **options) -> ph.System:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return ph.io.load_urdf(path, *arguments, **options)


@pytest.mark.parametrize(("old", "new", "line", "name"), WRONG)
def test_a_wrong_robot_is_refused_with_its_line(old, new, line, name, tmp_path):
    assert old in GOOD
    with raises(ph.errors.FileError, name) as caught:
        load(GOOD.replace(old, new, 1), tmp_path)
    assert caught.value.line == line
    assert caught.value.file == "robot.urdf"


def test_the_good_robot_is_good(tmp_path):
    assert list(load(GOOD, tmp_path).bodies) == ["a", "b"]


alu = ph.Material(E=70e9, rho=2700.0)


@pytest.mark.parametrize(
    ("beams", "name"),
    [
        ({"c": {}}, "'c'"),
        ({"base": {}}, "'base'"),
        ({"a": 3}, "'a'"),
        ({"a": {"section": ph.Circle(0.01)}}, "'material'"),
        ({"a": {"section": ph.Circle(0.01), "material": alu, "colour": 1}}, "'colour'"),
        ({"a": ph.Beam(0.3, ph.Circle(0.01), alu)}, "'a'"),
        ({"a": {"section": ph.Circle(0.01), "material": alu, "y": (2, 1, 0)}}, "(2, 1, 0)"),
        ({"b": {"section": ph.Circle(0.01), "material": alu}}, "'b'"),
    ],
)
def test_beams_that_do_not_fit_are_refused(beams, name, tmp_path):
    with raises(ph.errors.InputError, name):
        load(GOOD, tmp_path, beams)


def test_a_joint_beside_a_beam_is_refused(tmp_path):
    more = (
        GOOD.replace("</robot>", "")
        + """
      <link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="three" type="fixed"><parent link="a"/><child link="c"/><origin xyz="0.1 0.1 0"/></joint></robot>"""
    )
    with raises(ph.errors.InputError, "'three'", "'a'"):
        load(more, tmp_path, {"a": {"section": ph.Circle(0.01), "material": alu}})


def test_an_end_link_needs_a_length(tmp_path):
    text = GOOD.replace('<link name="b"><inertial>', '<link name="b"><inertial><origin xyz="0 0 0.1"/>')
    with raises(ph.errors.InputError, "'b'"):
        load(text, tmp_path, {"b": {"section": ph.Circle(0.01), "material": alu}})


def test_no_robot_at_all(tmp_path):
    with raises(ph.errors.InputError, "none.urdf"):
        ph.io.load_urdf(tmp_path / "none.urdf")
    with raises(ph.errors.FileError, "robot.urdf", "<world>"):
        load("<world/>", tmp_path)
    with raises(ph.errors.InputError, "'base'"):
        load('<robot><link name="base"/></robot>', tmp_path)
    with raises(ph.errors.FileError, "100"):
        load("<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>", tmp_path)
