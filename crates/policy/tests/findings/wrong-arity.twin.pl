operation(undeploy, Instance, self) :- \+ catch(requests(Instance, _, _, _), _, fail).
