import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { runProgram } from '../../src/cli/program.ts';
import { ownEnvironment, programFile } from '../service/program.ts';

export type CommandResult = Readonly<{ code: number | null; out: string; err: string }>;

/** Runs `solway …` as a process in an empty folder and waits for its exit. */
export async function runSolway(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input: string | null = null,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [programFile, ...args], {
    cwd: folder,
    env: { ...ownEnvironment, ...environment },
    stdio: [input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

/** Runs `solway …` in this process, which is faster than a new one. Not reentrant. */
export async function runHere(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const [out, err]: [string[], string[]] = [[], []];
  const before = process.cwd();
  process.chdir(folder);
  try {
    const code = await runProgram(args, {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      environment: { ...ownEnvironment, ...environment },
    });
    return { code, out: out.join(''), err: err.join('') };
  } finally {
    process.chdir(before);
  }
}
