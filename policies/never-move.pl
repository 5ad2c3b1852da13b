% Never move: every instance stays where it was deployed.
%
% A baseline without management, for comparisons. An agent with this policy never proposes anything. All agents
% also have this policy if a central strategy manages them.

% mario: allow never-fires, it is the purpose of this policy to propose nothing

operation(undeploy, _, self) :-
    fail.
