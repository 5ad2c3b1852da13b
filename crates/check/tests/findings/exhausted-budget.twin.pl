operation(undeploy, Instance, self) :- wait(Instance, 3).

wait(Instance, Left) :- Left > 0, Next is Left - 1, wait(Instance, Next).
wait(Instance, 0) :- \+ requests(Instance, _, _, _).
