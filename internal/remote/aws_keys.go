package remote

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// keyring has the credentials of S3: those of the environment, of a profile or of the instance.
type keyring struct {
	anonymous bool
	explicit  bool // the user named a profile, which must have some
	chain     *credentials.Credentials

	mu      sync.Mutex
	found   bool
	without bool // there are none: all requests stay unsigned
}

// metadataTimeout is enough for the metadata of an instance, which are near. Elsewhere nothing answers.
const metadataTimeout = 2 * time.Second

func newKeyring(o Options, c awsConfig) *keyring {
	k := &keyring{anonymous: o.Anonymous, explicit: c.profile != "" && os.Getenv("AWS_ACCESS_KEY_ID") == ""}
	if k.explicit {
		k.chain = credentials.New(&credentials.FileAWSCredentials{Profile: c.profile})
		return k
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if c.endpoint == nil && !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		providers = append(providers, &credentials.IAM{})
	}
	k.chain = credentials.NewChainCredentials(providers)
	return k
}

// errNoCredentials is the error of a profile, or of an instance that had some before.
var errNoCredentials = errors.New("there are no credentials")

// get returns credentials. ok is false if there are none.
func (k *keyring) get(ctx context.Context) (v credentials.Value, ok bool, err error) {
	if k.anonymous {
		return v, false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.without {
		return v, false, nil
	}
	v, err = k.chain.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: metadataTimeout}, Context: ctx})
	if err == nil && (v.AccessKeyID == "" || v.SecretAccessKey == "") {
		err = errNoCredentials
	}
	switch {
	case err == nil:
		k.found = true
		return v, true, nil
	case ctx.Err() != nil || k.explicit || k.found:
		return v, false, err
	}
	k.without = true
	return v, false, nil
}

// hint says what to do if the store refuses the credentials.
func (k *keyring) hint() string {
	if k.anonymous {
		return "without --anonymous, credentials come from AWS_ACCESS_KEY_ID, AWS_PROFILE or ~/.aws"
	}
	return "credentials come from AWS_ACCESS_KEY_ID, AWS_PROFILE or ~/.aws; --anonymous reads public data without them"
}

// emptySHA256 is the checksum of a request without a body.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signed signs a request, if there are credentials. Those of an instance may be late.
func (b *s3) signed(q *http.Request) (*http.Request, error) {
	v, ok, err := b.keys.get(q.Context())
	if err != nil {
		return nil, &failure{method: "credentials for", url: b.URL(), text: clean(err.Error()), class: fs.ErrPermission, temporary: !b.keys.explicit}
	}
	if !ok {
		return q, nil
	}
	q.Header.Set("X-Amz-Content-Sha256", emptySHA256)
	return signer.SignV4(*q, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, b.place.Load().region), nil
}
