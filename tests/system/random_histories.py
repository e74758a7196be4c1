"""What random histories are drawn from (Hypothesis): a registration, then anything at all, for each of four people."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.system import acts
from tests.system.channel_acts import FOLDINGS, HOWS, Adjust, Alter, Archive, Bring, Fold, Remove

PEOPLE = 4

_process = st.integers(0, 1)
_channel = st.integers(0, 5)
_some_channels = st.frozensets(_channel, min_size=1, max_size=3)
_some_people = st.frozensets(st.integers(0, PEOPLE - 1), min_size=1, max_size=PEOPLE)
_read = st.sampled_from([None, True, False])
_register = st.builds(
    acts.Register,
    _process,
    st.sampled_from([False, False, True]),
    st.sampled_from([True, True, False]),
    st.booleans(),
)
_alter = st.builds(Alter, _channel, st.sampled_from(HOWS), st.integers(0, PEOPLE - 1), _process)
_say = st.builds(acts.Say, _channel, st.sampled_from(["", "", "tea", "Tea"]), _read, _process)
_topic = st.sampled_from(["", "tea", "TEA"])
_flag = st.sampled_from(["starred", "starred", "collapsed"])
_poll = st.builds(acts.Poll, st.integers(0, 3), _process, st.booleans())
_move = st.builds(
    acts.Move,
    st.integers(0, 7),
    st.sampled_from([None, "", "tea", "Tea", "cake"]),
    st.none() | _channel,
    st.sampled_from(["change_one", "change_later", "change_all"]),
    _process,
)
_acts: st.SearchStrategy[acts.Act] = st.one_of(
    _say,
    _say,
    _say,
    st.builds(acts.Whisper, _some_people, _read, _process),
    st.builds(acts.Mark, st.booleans(), st.frozensets(st.integers(0, 7), min_size=1, max_size=4), _process),
    st.builds(acts.Mark, st.booleans(), st.frozensets(st.integers(0, 7), min_size=1, max_size=4), _process),
    st.builds(acts.Star, _flag, st.booleans(), st.frozensets(st.integers(0, 7), min_size=1, max_size=4), _process),
    st.builds(acts.Edit, st.integers(0, 7), _process),
    _move,
    _move,
    _move,
    st.builds(acts.Erase, st.integers(0, 7), _process),
    st.builds(acts.ReadAll, st.none() | _channel, st.none() | _topic, _process),
    st.builds(acts.Decide, _channel, st.sampled_from(["", "tea", "Tea", "cake"]), st.integers(0, 3), _process),
    st.builds(acts.Join, _some_channels, _process),
    st.builds(acts.Leave, _some_channels, _process),
    st.builds(acts.Found, st.booleans(), _process),
    st.builds(acts.Invite, _some_people, _some_channels),
    st.builds(acts.Expel, _some_people, _some_channels),
    st.builds(acts.Arrive),
    _alter,
    _alter,
    _alter,
    st.builds(Archive, _channel, st.booleans(), _process),
    st.builds(Adjust, _channel, st.integers(0, 6), _process),
    st.builds(Adjust, _channel, st.integers(0, 6), _process),
    st.builds(Fold, st.sampled_from(FOLDINGS), _process),
    st.builds(Bring, _some_people, _some_channels, _process),
    st.builds(Remove, _some_people, _some_channels, _process),
    st.builds(acts.Gather, _some_people, _process),
    st.builds(
        acts.Regroup, st.integers(0, 2), _some_people, _some_people, st.sampled_from([False, False, True]), _process
    ),
    st.builds(acts.Rename, st.integers(0, PEOPLE - 1), _process),
    _register,
    _register,
    _poll,
    _poll,
    st.builds(acts.Hold, st.integers(0, 3), _process),
)
_program = st.builds(lambda first, rest: (first, *rest), _register, st.lists(_acts, min_size=2, max_size=7))
histories = st.builds(acts.History, st.tuples(*[_program] * PEOPLE))

# Timing decides, so a failure cannot be shrunk: the first one is shown as it happened.
AS_THEY_COME = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
