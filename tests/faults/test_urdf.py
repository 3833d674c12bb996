"""URDF files that are wrong, and beams that do not fit, are refused with a sentence."""

import pytest

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
    (
        '<robot name="r">',
        '<!DOCTYPE r [<!ENTITY a "b">]><robot name="r">',
        1,
        "document types and entities are refused",
    ),
    (
        '<robot name="r">',
        '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="r">',
        1,
        "document types and entities are refused",
    ),
    ('<robot name="r">', "<world>", 21, "no XML: mismatched tag"),
    ("</robot>", "", 22, "no XML: no element found"),
    ('<link name="base"/>', "<link/>", 2, "'name' is missing"),
    ('<link name="base"/>', '<link name="a"/>', 3, "two of <link> are called 'a'"),
    ('<link name="base"/>', '<link name="base.link"/>', 2, "cannot name a link here"),
    ('<mass value="1"/>', '<mass value="one"/>', 6, "value is 'one'; expected a number"),
    ('<mass value="1"/>', '<mass value="nan"/>', 6, "expected a number"),
    ('<mass value="1"/>', '<mass value="-1"/>', 6, "must not be negative"),
    ('<mass value="1"/>', '<mass value="0"/>', 3, "link 'a' moves and has no mass"),
    ('<mass value="1"/>', "", 4, "has no <mass value=…/>"),
    ('ixx="1e-3" iyy', 'ixx="1" iyy', 3, "link 'a': no mass has the principal inertias"),
    ('ixx="1e-3" iyy', "iyy", 7, "'ixx' is missing"),
    ('<origin xyz="0.1 0 0"/>', '<origin xyz="0.1 0"/>', 5, "xyz is '0.1 0'; expected 3 numbers"),
    ('type="revolute"', 'type="revolut"', 11, "no type of joint 'revolut' (did you mean 'revolute'"),
    ('<parent link="base"/>', '<parent link="bas"/>', 11, "joint 'one': no link 'bas' (did you mean 'base'"),
    ('<parent link="base"/>', "", 11, "joint 'one' has no <parent link=…/>"),
    ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', 14, "the axis of joint 'one' is zero"),
    ('<axis xyz="0 0 1"/>', '<dynamics damping="-1"/>', 11, "the damping of joint 'one' is -1"),
    ('<child link="b"/>', '<child link="a"/>', 16, "link 'a' has two parents"),
    ('<parent link="base"/>', '<parent link="b"/>', 1, "the links a, b hold each other in a ring; a robot is one tree"),
    ('<link name="base"/>', '<link name="base"/><link name="other"/>', 1, "links that no joint moves are base, other"),
    ('<joint name="two"', '<joint name="one"', 16, "two of <joint> are called 'one'"),
]


def load(text: str, tmp_path, *arguments, **options) -> ph.System:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return ph.load_urdf(path, *arguments, **options)


@pytest.mark.parametrize(("old", "new", "line", "sentence"), WRONG)
def test_a_wrong_robot_is_refused_with_its_line(old, new, line, sentence, tmp_path):
    assert old in GOOD
    with pytest.raises(ph.FileError) as caught:
        load(GOOD.replace(old, new, 1), tmp_path)
    assert sentence in str(caught.value)
    assert caught.value.line == line
    assert caught.value.file == "robot.urdf"


def test_the_good_robot_is_good(tmp_path):
    assert list(load(GOOD, tmp_path).bodies) == ["a", "b"]


alu = ph.Material(E=70e9, rho=2700.0)


@pytest.mark.parametrize(
    ("beams", "sentence"),
    [
        ({"c": {}}, "beams: no link 'c'"),
        ({"base": {}}, "'base' is the root of the robot"),
        ({"a": 3}, "it must be a mapping"),
        ({"a": {"section": ph.Circle(0.01)}}, "'a': .*material"),
        ({"a": {"section": ph.Circle(0.01), "material": alu, "colour": 1}}, "colour"),
        (
            {"a": ph.Beam(0.3, ph.Circle(0.01), alu)},
            "has length 0.3, but its joints are 0.223607 m apart; leave length away",
        ),
        ({"a": {"section": ph.Circle(0.01), "material": alu, "y": (2, 1, 0)}}, "which points along the beam"),
        ({"b": {"section": ph.Circle(0.01), "material": alu}}, "'b' has no length"),
    ],
)
def test_beams_that_do_not_fit_are_refused(beams, sentence, tmp_path):
    with pytest.raises(ph.InputError, match=sentence):
        load(GOOD, tmp_path, beams)


def test_a_joint_beside_a_beam_is_refused(tmp_path):
    more = (
        GOOD.replace("</robot>", "")
        + """
      <link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="three" type="fixed"><parent link="a"/><child link="c"/><origin xyz="0.1 0.1 0"/></joint></robot>"""
    )
    with pytest.raises(ph.InputError, match="joint 'three' lies beside the straight beam 'a'"):
        load(more, tmp_path, {"a": {"section": ph.Circle(0.01), "material": alu}})


def test_an_end_link_needs_a_length(tmp_path):
    text = GOOD.replace('<link name="b"><inertial>', '<link name="b"><inertial><origin xyz="0 0 0.1"/>')
    with pytest.raises(ph.InputError, match="'b' carries no joint, so its length must be given"):
        load(text, tmp_path, {"b": {"section": ph.Circle(0.01), "material": alu}})


def test_no_robot_at_all(tmp_path):
    with pytest.raises(ph.InputError, match="no file"):
        ph.load_urdf(tmp_path / "none.urdf")
    with pytest.raises(ph.FileError, match="this is no robot; expected <robot> as the outermost tag"):
        load("<world/>", tmp_path)
    with pytest.raises(ph.InputError, match="nothing moves in the robot"):
        load('<robot><link name="base"/></robot>', tmp_path)
    with pytest.raises(ph.FileError, match="nested more than 100 deep"):
        load("<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>", tmp_path)
