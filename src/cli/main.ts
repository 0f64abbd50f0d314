import { runProgram } from './program.ts';

// Does not call process.exit(), which would discard output that a pipe has not read yet.
process.exitCode = await runProgram(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
});
