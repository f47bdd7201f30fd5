package main

func main() {} // never runs in a reactor
