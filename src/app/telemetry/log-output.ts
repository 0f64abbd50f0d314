import { createWriteStream, openSync } from 'node:fs';
import { format } from 'node:util';
import { createLogger, type Logger } from '../../base/log.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';

type ErrorOutput = Readonly<{ write: (text: string) => unknown; isTTY?: boolean }>;

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'this user has no write permission: change the owner or choose another file',
  ENOENT: 'its folder does not exist: create it',
  EISDIR: 'it is a folder: choose a file in it',
  ENOTDIR: 'a part of its path is a file: choose another path',
  EROFS: 'the disk is read-only: choose another path',
  ENOSPC: 'the disk is full: free some space',
};

function remedyOf(error: unknown): string {
  const { code = 'no code' } = error as NodeJS.ErrnoException;
  return `${remedies[code] ?? 'choose another file'} (${code})`;
}

/** Opens or creates the log file. @throws OperatorError */
export function openLogFile(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    const message = `log.file: ${file} cannot be opened: ${remedyOf(error)}`;
    throw new OperatorError(message, { cause: error });
  }
}

/** Writes lines to the file. After a failed write, prints one notice and writes to standard error instead. */
function fileWriter(file: string, errors: ErrorOutput): (line: string) => void {
  const stream = createWriteStream(file, { fd: openLogFile(file) });
  let broken = false;
  stream.on('error', (error) => {
    if (!broken)
      errors.write(
        `solway: log.file: writing to ${file} failed: ${remedyOf(error)}; logging to standard error\n`,
      );
    broken = true;
  });
  return (line) => void (broken ? errors.write(line) : stream.write(line));
}

export function logLevelOf(
  { level, file }: Configuration['log'],
  errors: ErrorOutput,
  forPerson: boolean,
): string {
  if (level !== 'auto') return level;
  return forPerson && file === null && errors.isTTY === true ? 'warn' : 'info';
}

/** @param forPerson - if true, the level `auto` means `warn` on a terminal. @throws OperatorError */
export function openLog(
  { level, file }: Configuration['log'],
  errors: ErrorOutput,
  forPerson: boolean,
): Logger {
  const chosen = logLevelOf({ level, file }, errors, forPerson);
  return createLogger(chosen, file === null ? (line) => void errors.write(line) : fileWriter(file, errors));
}

/** Logs what libraries print, so that the log contains only JSON lines: for example, ioredis prints warnings. */
export function logPrintedWarnings(log: Logger): void {
  console.warn = (...parts: unknown[]) => log.warn({ text: format(...parts) }, 'Warning of a library');
}
