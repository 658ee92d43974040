% GNU Octave writes voxels into a flat file with functions of MATLAB. Arguments as for edit.py, without a way.

1; % a script, not a file of functions

arguments = argv();
shape = str2num(arguments{3});
at = str2num(arguments{4});
lengths = str2num(arguments{5});
file = fopen(arguments{2});
fresh = reshape(fread(file, Inf, "*uint32"), lengths);
fclose(file);
file = fopen(arguments{1}, "r+");
for z = 1:lengths(3)
  for y = 1:lengths(2)
    row = (at(3) + z - 1) * shape(2) + at(2) + y - 1;
    assert(fseek(file, 4 * (row * shape(1) + at(1)), "bof") == 0);
    assert(fwrite(file, fresh(:, y, z), "uint32") == lengths(1));
  end
end
assert(fclose(file) == 0);
