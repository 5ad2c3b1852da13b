% Asking about the program itself.

current_predicate(Spec) :-
    '$plain'(Spec, Indicator),
    '$check_indicator'(Indicator),
    Indicator = Name/Arity,
    '$predicates'(All),
    (   atom(Name), integer(Arity)
    ->  memberchk(Name/Arity, All)
    ;   member(Name/Arity, All)
    ).

current_predicate(Name, Spec) :-
    '$plain'(Spec, Head),
    (   var(Head)
    ->  '$predicates'(All),
        member(Name/Arity, All),
        functor(Head, Name, Arity)
    ;   callable(Head)
    ->  functor(Head, Name, Arity),
        '$predicates'(All),
        memberchk(Name/Arity, All)
    ;   type_error(callable, Head)
    ).

predicate_property(Spec, Property) :-
    '$plain'(Spec, Head),
    (   var(Head)
    ->  '$predicates'(All),
        member(Name/Arity, All),
        functor(Head, Name, Arity)
    ;   true
    ),
    '$predicate_property'(Head, Properties),
    (   ground(Property)
    ->  memberchk(Property, Properties)
    ;   member(Property, Properties)
    ).

'$plain'(Spec, Plain) :-
    (   nonvar(Spec),
        Spec = Module:Inner,
        ( var(Module) ; atom(Module) )
    ->  '$plain'(Inner, Plain)
    ;   Plain = Spec
    ).

'$check_indicator'(Indicator) :-
    (   var(Indicator)
    ->  true
    ;   Indicator = Name/Arity
    ->  (   ( var(Name) ; atom(Name) ),
            ( var(Arity) ; integer(Arity) )
        ->  true
        ;   type_error(predicate_indicator, Indicator)
        )
    ;   type_error(predicate_indicator, Indicator)
    ).

% Inferences are counted, time is not: there is no clock in here.
statistics(Key, Value) :-
    (   var(Key)
    ->  instantiation_error(Key)
    ;   Key == inferences
    ->  '$inferences'(Value)
    ;   domain_error(statistics_key, Key)
    ).

assertion(Goal) :-
    (   \+ \+ catch(Goal, _, fail)
    ->  true
    ;   throw(error(assertion_failed(Goal), _))
    ).
