% GNU Octave reads a flat file with functions of MATLAB. The extended attributes of the file
% have type and shape. Lines in and out are those of client.py. Debian: octave, attr.

1; % a script, not a file of functions

function about = attributes(path)
  [code, text] = system(["getfattr --absolute-names -d -m user.wkwfs -- '" path "'"]);
  assert(code == 0);
  pairs = regexp(text, 'user\.wkwfs\.(\w+)="([^"]*)"', "tokens");
  about = struct(vertcat(pairs{:})'{:});
end

function text = list(words)
  text = ["[" strjoin(words, ", ") "]"];
end

function text = voxel(values)
  format = "%.17g";
  if isinteger(values)
    format = "%d";
  end
  text = list(arrayfun(@(v) sprintf(format, v), values(:)', "UniformOutput", false));
end

function answer = describe(path, positions)
  about = attributes(path);
  shape = str2num(about.shape);
  channels = str2num(about.channels);
  file = fopen(path);
  a = reshape(fread(file, Inf, ["*" about.dtype]), [channels shape]);
  fclose(file);
  voxels = {};
  for i = 1:numel(positions)
    at = str2num(positions{i}) + 1;
    voxels{i} = voxel(a(:, at(1), at(2), at(3)));
  end
  dtype = strrep(strrep(class(a), "single", "float32"), "double", "float64");
  sum = hash("sha256", char(typecast(a(:), "uint8")'));
  answer = sprintf('{"shape": [%d, %d, %d], "channels": %d, "dtype": "%s", "spacing": null, "origin": null, "voxels": %s, "sha256": "%s"}',
                   size(a, 2), size(a, 3), size(a, 4), size(a, 1), dtype, list(voxels), sum);
end

while ischar(line = fgetl(stdin))
  words = strsplit(line, "\t");
  try
    answer = describe(words{1}, words(2:end));
  catch problem
    answer = jsonencode(struct("error", problem.message));
  end
  puts([answer "\n"]);
  fflush(stdout);
end
