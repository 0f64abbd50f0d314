import { runProgram } from './program.ts';

// Not process.exit(): what was written to a pipe must leave first.
process.exitCode = await runProgram(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
});
