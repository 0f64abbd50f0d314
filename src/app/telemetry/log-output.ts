import { createWriteStream, openSync } from 'node:fs';
import { createLogger, type Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';

/** Log lines cannot go where log.file says; the message says what to do. */
export class LogFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogFileError';
  }
}

/** Standard error, as far as it matters to the log. */
export type ErrorOutput = Readonly<{ write: (text: string) => unknown; isTTY?: boolean }>;

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write it: change its owner or name another',
  ENOENT: 'its folder does not exist: make it',
  EISDIR: 'that is a folder: name a file in it',
  ENOTDIR: 'a part of its path is a file: name another',
  EROFS: 'the disk is read-only: name another',
  ENOSPC: 'the disk is full: make room',
};

function remedyOf(error: unknown): string {
  const { code = 'no code' } = error as NodeJS.ErrnoException;
  return `${remedies[code] ?? 'name another'} (${code})`;
}

/** Opens the file that log.file names, making it when absent. @throws LogFileError */
export function openLogFile(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    const message = `log.file names ${file}, which cannot be opened: ${remedyOf(error)}`;
    throw new LogFileError(message, { cause: error });
  }
}

/** Writes lines to the file; after a failed write, to standard error, with one notice. */
function fileWriter(file: string, errors: ErrorOutput): (line: string) => void {
  const stream = createWriteStream(file, { fd: openLogFile(file) });
  let broken = false;
  stream.on('error', (error) => {
    if (!broken)
      errors.write(`solway: log.file ${file} takes no more lines: ${remedyOf(error)}; they go here\n`);
    broken = true;
  });
  return (line) => void (broken ? errors.write(line) : stream.write(line));
}

/** Meaning of "auto": `warn` on a terminal, else `info`. */
export function logLevelOf(
  { level, file }: Configuration['log'],
  errors: ErrorOutput,
  forPerson: boolean,
): string {
  if (level !== 'auto') return level;
  return forPerson && file === null && errors.isTTY === true ? 'warn' : 'info';
}

/**
 * Opens the log: lines go to the configured file, else to standard error, as standard output is for the person.
 * @param forPerson - whether a person is shown words; on a terminal the level "auto" is then `warn`.
 * @throws LogFileError
 */
export function openLog(
  { level, file }: Configuration['log'],
  errors: ErrorOutput,
  forPerson: boolean,
): Logger {
  const chosen = logLevelOf({ level, file }, errors, forPerson);
  return createLogger(chosen, file === null ? (line) => void errors.write(line) : fileWriter(file, errors));
}
