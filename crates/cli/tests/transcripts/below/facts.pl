fact(one).
fact(two).
