package main

import (
	"net"
	"os"
)

// notifyManager tells a service manager that started us (systemd, Type=notify)
// that the mount is ready. Without one it does nothing.
func notifyManager() error {
	address := os.Getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("READY=1"))
	return err
}
