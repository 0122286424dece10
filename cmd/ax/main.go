// Command ax runs AX's engine and steers its runs. It has no flows of its own: programs that call axflow.Main have
// the same commands and a worker besides.
package main

import "axflow"

func main() { axflow.Main() }
