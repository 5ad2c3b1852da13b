operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _), \+ catch(requests(Instance, _, _, _), _, fail).
