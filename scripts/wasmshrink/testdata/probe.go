// Command probe does what needs the tables that must stay: stack growth,
// garbage collection while stacks are deep, recovering from panics, and it
// tells whether functions and lines are known.
package main

import (
	"fmt"
	"runtime"
	"strings"
)

type node struct {
	next *node
	pad  [100]int
}

func deep(n int, list *node) int {
	if n == 0 {
		runtime.GC()
		return len(list.pad)
	}
	return 1 + deep(n-1, &node{next: list})
}

func fails() (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	var none []int
	return fmt.Sprint(none[len(none)])
}

func main() {
	done := make(chan int)
	for i := range 4 {
		go func() { done <- deep(3000+i, &node{}) }()
	}
	sum := 0
	for range 4 {
		sum += <-done
	}
	pc, file, line, _ := runtime.Caller(0)
	fmt.Println(sum, fails(), runtime.FuncForPC(pc).Name(), strings.HasSuffix(file, "probe.go"), line > 0)
}
