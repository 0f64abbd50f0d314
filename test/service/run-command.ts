import { runProgram } from '../../src/cli/program.ts';

export async function runCommand(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const code = await runProgram(args, {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    environment: {},
  });
  return { code, ...written };
}
