import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../service/eventually.ts';

/** A program for Node.js as the window of a new key shows it. */
export type ShownProgram = Readonly<{ name: string; text: string }>;

/** Takes the programs for Node.js from the window of a new key. */
export async function shownPrograms(page: Page): Promise<readonly ShownProgram[]> {
  const dialog = page.getByRole('dialog');
  const shown: ShownProgram[] = [];
  for (const tab of await dialog.getByRole('tab', { name: /TypeScript|\.js/ }).all()) {
    await tab.click();
    const text = (await dialog.getByRole('tabpanel').locator('pre').textContent()) ?? '';
    shown.push({ name: (await tab.textContent()) ?? '', text });
  }
  return shown;
}

/**
 * Runs one as it is shown, where its packages are installed, until it has said something.
 * @param provoke - makes happen what a stream tells of; done again until it is told.
 * @returns what it said. @throws Error when it ended before, with why.
 */
export async function saidBy(
  { name, text }: ShownProgram,
  provoke: () => Promise<unknown> = async () => {},
): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let hasEnded = false;
  let [said, complained] = ['', ''];
  void ended.then(() => {
    hasEnded = true;
  });
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  child.stderr.on('data', (bytes) => {
    complained += bytes;
  });
  try {
    return await eventually(
      async () => {
        if (said !== '') return said;
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
