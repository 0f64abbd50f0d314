import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '../../bin/solway.js');

/** Starts the launcher in a Node.js that says it is of this version. */
function launch(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawnSync(process.execPath, ['--import', preload, launcher, '--version'], { encoding: 'utf8' });
}

describe('the launcher of the published package', () => {
  it.each(['18.20.4', '20.19.0', '23.11.0'])('says in plain words that Node.js %s is too old', (version) => {
    const { status, stdout, stderr } = launch(version);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`solway needs Node.js 24 or newer, and this is ${version}.`);
  });

  it('goes on to the program with a new one', () => {
    expect(launch('24.0.0').stderr).not.toContain('needs Node.js');
  });
});
