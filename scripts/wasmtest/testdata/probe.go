// Probe prints its arguments and one variable, and exits with 3.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println(os.Args[1:], os.Getenv("METAQDA_PROBE"), len(os.Getenv("LARGE")))
	os.Exit(3)
}
