:- consult('below/facts').

known(X) :- fact(X).
