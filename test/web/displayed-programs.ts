import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../service/eventually.ts';

/** A program for Node.js as the window of a new key shows it. */
export type DisplayedProgram = Readonly<{ name: string; text: string }>;

/** Takes the programs for Node.js from the window of a new key. */
export async function displayedPrograms(page: Page): Promise<readonly DisplayedProgram[]> {
  const dialog = page.getByRole('dialog');
  const programs: DisplayedProgram[] = [];
  for (const tab of await dialog.getByRole('tab', { name: /TypeScript|\.js/ }).all()) {
    await tab.click();
    const text = (await dialog.getByRole('tabpanel').locator('pre').textContent()) ?? '';
    programs.push({ name: (await tab.textContent()) ?? '', text });
  }
  return programs;
}

/**
 * Runs one as it is shown, where its packages are installed, until it has said something.
 * @param provoke - makes happen what a stream tells of; done again until it is told.
 * @returns what it said. @throws Error when it ended before, with why.
 */
export async function outputOf(
  { name, text }: DisplayedProgram,
  provoke: () => Promise<unknown> = async () => {},
): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let hasEnded = false;
  let [output, complained] = ['', ''];
  void ended.then(() => {
    hasEnded = true;
  });
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  child.stderr.on('data', (bytes) => {
    complained += bytes;
  });
  try {
    return await eventually(
      async () => {
        if (output !== '') return output;
        if (hasEnded) throw new Error(`${name} ended with ${child.exitCode}: ${complained}`);
        await provoke();
        return null;
      },
      `${name} says something`,
      { everyMs: 100, timeoutMs: 30_000 },
    );
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
