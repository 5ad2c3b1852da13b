"""Uses the package without any optional dependency: python/test runs this on the oldest and the newest Python."""

import sys

import mario_fog as mario

run = mario.run("paper", policy="latency-aware", set={"duration": 2000})
assert run.summary["nodes"] == 85, run.summary
schema, columns = run.operations.__arrow_c_array__()
assert "arrow_schema" in repr(schema) and "arrow_array" in repr(columns)
assert mario.Policy.open("latency-aware").check()["findings"] == []
calls = []
mario.run("paper", policy=lambda facts: calls.append(facts.instance), set={"duration": 1000})
assert calls
try:
    mario.run("paper", policy=lambda facts: 1 / 0)
except ZeroDivisionError:
    pass
else:
    raise AssertionError("an exception of a policy was lost")
print(f"mario {mario.__version__} alone on Python {sys.version.split()[0]}: ok")
