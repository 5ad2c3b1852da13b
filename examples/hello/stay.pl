% An agent that proposes nothing: its instances stay where they were deployed.

% mario: allow never-fires, it is the purpose of this policy to propose nothing

operation(undeploy, _, self) :-
    fail.
