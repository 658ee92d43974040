package remote

import (
	"fmt"
	"net/http"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/object"
)

// objectOf describes an object by the header of an answer to HEAD.
func objectOf(key string, answer *http.Response) (object.Object, error) {
	if answer.ContentLength < 0 {
		return object.Object{}, permanent{fmt.Errorf("the answer has no Content-Length: %w", syscall.EIO)}
	}
	return object.Object{Key: key, Size: answer.ContentLength, Modified: modified(answer.Header), Version: versionOf(answer.Header)}, nil
}
