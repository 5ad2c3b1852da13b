:- dynamic limit/1.
:- \+ limit(_).
operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _).
