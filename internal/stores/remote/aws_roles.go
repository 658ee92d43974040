package remote

import (
	"cmp"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// keySources returns where credentials may be, in the order of AWS' tools: the environment, the profile, a token of
// Kubernetes, the service of a container, that of the machine.
//
// The last three are asked only for a store of AWS, unless the profile names them: another server must not see the
// session of a role. The service of the machine is asked only where there are signs of EC2. Elsewhere nobody would
// answer, and a user of public data would wait.
func keySources(c awsConfig) ([]keySource, error) {
	environment := &credentials.EnvAWS{}
	if v, err := environment.RetrieveWithCredContext(nil); err == nil && isComplete(v) {
		return []keySource{{from: environment, name: "the environment"}}, nil
	}
	profile, err := profileSource(c)
	profile.name = "profile " + cmp.Or(c.profile, "default") + ", role " + c.settings["role_arn"]
	if err != nil || profile.required || !c.toAWS() {
		return []keySource{profile}, err
	}
	role, ok, err := roleSource(c)
	if !ok || err != nil {
		return []keySource{profile}, err
	}
	return []keySource{profile, role}, nil
}

// roleSource returns the source of the role that Kubernetes, the container or the machine has. ok is false if there are
// no signs of one.
func roleSource(c awsConfig) (s keySource, ok bool, err error) {
	if file := os.Getenv(tokenFile); file != "" {
		from, err := webIdentity(c, file, os.Getenv("AWS_ROLE_ARN"))
		return keySource{from, true, "role " + os.Getenv("AWS_ROLE_ARN")}, true, err
	}
	if from, err := container(); from != nil || err != nil {
		return keySource{from, true, "the container"}, true, err
	}
	if os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT") == "" && !isEC2(os.DirFS("/sys")) {
		return keySource{}, false, nil
	}
	from, err := machine()
	return keySource{from: from, name: "the machine"}, from != nil, err
}

// profileSource returns the source that a profile names: another source, a role, or keys.
func profileSource(c awsConfig) (keySource, error) {
	role := c.settings["role_arn"]
	var from retriever
	var err error
	switch kind := c.settings["credential_source"]; {
	case kind != "":
		from, err = namedSource(kind)
	case role != "" && c.settings["web_identity_token_file"] != "":
		from, err = webIdentity(c, c.settings["web_identity_token_file"], role)
		return keySource{from: from, required: true}, err
	case role != "" && c.settings["source_profile"] != "":
		from = &credentials.FileAWSCredentials{Profile: c.settings["source_profile"]}
	default:
		return keySource{from: &credentials.FileAWSCredentials{Profile: c.profile}, required: c.profile != ""}, nil
	}
	if err != nil || role == "" {
		return keySource{from: from, required: true}, err
	}
	sts, err := loginURL(c.region)
	return keySource{from: &assumedRole{from, sts, credentials.STSAssumeRoleOptions{
		Location: c.region, RoleARN: role, RoleSessionName: cmp.Or(c.settings["role_session_name"], "wkwfs"),
		ExternalID: c.settings["external_id"],
	}}, required: true}, err
}

// tokenFile is the variable of a file with a token of Kubernetes.
const tokenFile = "AWS_WEB_IDENTITY_TOKEN_FILE"

// namedSource returns the source that credential_source of a profile names.
func namedSource(kind string) (from retriever, err error) {
	if kind == "Environment" {
		return &credentials.EnvAWS{}, nil
	}
	refused := []string{tokenFile} // package credentials would prefer what these variables name
	switch kind {
	case "EcsContainer":
		from, err = container()
	case "Ec2InstanceMetadata":
		from, err = machine()
		refused = append(refused, containerPath, containerURL)
	default:
		return nil, hint.Usagef("write Ec2InstanceMetadata, EcsContainer or Environment",
			"credential_source of the profile: unknown source %q", kind)
	}
	for _, variable := range refused {
		if os.Getenv(variable) != "" {
			return nil, hint.Usagef("remove one of them", "credential_source = %s, and %s names another source", kind,
				variable)
		}
	}
	if from == nil && err == nil {
		err = hint.Usagef("see AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_EC2_METADATA_DISABLED",
			"credential_source = %s: the environment says that there is no such source", kind)
	}
	return from, err
}

// assumedRole is a role that the credentials of another source may take.
type assumedRole struct {
	from retriever
	sts  string // URL of the server
	o    credentials.STSAssumeRoleOptions
}

func (a *assumedRole) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := (&keySource{from: a.from}).get(cc.Context)
	if err != nil {
		return v, err
	}
	o := a.o
	o.AccessKey, o.SecretKey, o.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return (&credentials.STSAssumeRole{STSEndpoint: a.sts, Options: o}).RetrieveWithCredContext(cc)
}

// webIdentity returns the source of a role for a token in a file, as Kubernetes gives it to programs. The file is read
// for each renewal: Kubernetes replaces it.
func webIdentity(c awsConfig, file, role string) (retriever, error) {
	sts, err := loginURL(c.region)
	return &credentials.STSWebIdentity{STSEndpoint: sts, RoleARN: role,
		GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			token, err := os.ReadFile(file)
			return &credentials.WebIdentityToken{Token: string(token)}, err
		}}, err
}

// loginURL returns the URL of AWS' Security Token Service.
func loginURL(region string) (string, error) {
	if named := os.Getenv("AWS_ENDPOINT_URL_STS"); named != "" {
		_, err := serverURL("AWS_ENDPOINT_URL_STS", named)
		return named, err
	}
	if strings.HasPrefix(region, "cn-") {
		return "https://sts." + region + ".amazonaws.com.cn", nil
	}
	return "https://sts." + region + ".amazonaws.com", nil
}

// containerHosts are the addresses of the services that give credentials to containers of ECS and EKS.
var containerHosts = []string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}

// The variables of containers. Their service is at a path of its usual address, or at a URL.
const (
	containerPath = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
	containerURL  = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
)

// container returns the source of the container that the program runs in. It returns nil if the container has no
// credentials.
func container() (retriever, error) {
	named := os.Getenv(containerURL)
	if os.Getenv(containerPath) != "" {
		return &credentials.IAM{Client: nearClient(containerTimeout)}, nil
	}
	if named == "" {
		return nil, nil
	}
	u, err := serverURL(containerURL, named)
	if err != nil {
		return nil, err
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	near := host == "localhost" || slices.Contains(containerHosts, host) || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !near {
		return nil, hint.Usagef("use https, or an address of this machine or of the services of ECS and EKS",
			"%s: the token would be sent to %s without encryption", containerURL, host)
	}
	return &credentials.IAM{Client: nearClient(containerTimeout), Endpoint: named}, nil
}

// machine returns the source of the machine, EC2: version 2 of its metadata service, or version 1 if only that answers.
// It returns nil if the user has disabled it.
func machine() (retriever, error) {
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return nil, nil
	}
	endpoint := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	switch {
	case endpoint != "":
		if _, err := serverURL("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint); err != nil {
			return nil, err
		}
	case strings.EqualFold(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "IPv6"):
		endpoint = "http://[fd00:ec2::254]"
	default:
		endpoint = credentials.DefaultIAMRoleEndpoint
	}
	return &credentials.IAM{Client: nearClient(machineTimeout), Endpoint: strings.TrimSuffix(endpoint, "/")}, nil
}

const (
	// machineTimeout is enough for a request to the metadata of the machine, which are near.
	machineTimeout = 2 * time.Second

	// containerTimeout is the longest time of a request to the service of a container. That asks others.
	containerTimeout = 5 * time.Second
)

// nearClient returns a client for a server that is near: without a proxy, and without redirects, which would take the
// token to another server.
func nearClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     short{&http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}
}

// serverURL parses the URL of a server that a variable names.
func serverURL(variable, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, hint.Usagef("write it like http://169.254.169.254", "%s: %q is not the URL of a server", variable,
			Display(text))
	}
	return u, nil
}

// isEC2 reports whether the files of the kernel say that this is a machine of EC2: what its firmware says of itself,
// which every user may read, or the number of a machine of Xen.
func isEC2(sys fs.FS) bool {
	for _, name := range []string{"sys_vendor", "board_vendor", "bios_vendor", "bios_version"} {
		text, err := fs.ReadFile(sys, "class/dmi/id/"+name)
		if err == nil && strings.Contains(strings.ToLower(string(text)), "amazon") {
			return true
		}
	}
	uuid, err := fs.ReadFile(sys, "hypervisor/uuid")
	return err == nil && strings.HasPrefix(strings.ToLower(string(uuid)), "ec2")
}
