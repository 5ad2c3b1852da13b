% Never move: every instance stays where it was deployed.
%
% The least that management can do, to compare with. An agent with this policy asks for nothing, whatever it sees. It is also
% the policy of all agents where a strategy with a view of everything does the managing.

% mario: allow never-fires, it is the purpose of this policy to propose nothing

operation(undeploy, _, self) :-
    fail.
