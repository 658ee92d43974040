module github.com/wkwfs/wkwfs

go 1.26.5
