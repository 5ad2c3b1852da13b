:- consult('../../Cargo.toml').
