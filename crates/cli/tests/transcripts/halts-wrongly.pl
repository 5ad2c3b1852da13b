:- halt(101).
