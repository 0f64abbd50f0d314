import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const launcher = join(import.meta.dirname, '../../bin/solway.js');

function launch(version: string, file = launcher) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawnSync(process.execPath, ['--import', preload, file, '--version'], { encoding: 'utf8' });
}

describe('the launcher of the published package', () => {
  it.each(['18.20.4', '23.11.0'])('rejects Node.js %s', (version) => {
    const { status, stdout, stderr } = launch(version);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`solway needs Node.js 24 or newer, and this is ${version}.`);
    // This package does not exist in the registry.
    expect(stderr).not.toMatch(/\b(?:npx|npm)\b/);
    expect(stderr).toContain('Install Node.js 24 from https://nodejs.org');
  });
});
