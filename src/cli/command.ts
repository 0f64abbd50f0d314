import { ArgumentsError } from '../config/errors.ts';
/** Exit codes of all commands. They are stable. */
export const exitCodes = { ok: 0, problem: 1, usage: 2 } as const;

export type Terminal = Readonly<{
  out: (text: string) => void;
  err: (text: string) => void;
  environment: Readonly<Record<string, string | undefined>>;
}>;

export type Command = Readonly<{
  help: string;
  /** Command-line option for each field of the control API, so that errors name the option. */
  optionNames?: Readonly<Record<string, string>>;
  /** @returns the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}>;

/** @throws ArgumentsError for a positional argument that the command does not accept. */
export function rejectArgument(command: string, argument: string | undefined): void {
  if (argument !== undefined)
    throw new ArgumentsError(`unexpected argument "${argument.slice(0, 40)}": see solway ${command} --help`);
}
