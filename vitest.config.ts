import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BUNDLED_PROGRAM } from './test/project/bundle-program.ts';
import { ProgramsFirst } from './test/project/programs-first.ts';
import { SkippedTests } from './test/project/skipped-tests.ts';

/** Tests that measure the memory of their process, count its timers or descriptors, or replace a module. */
const ISOLATED = [
  'test/control/accounts/api-concurrency.test.ts',
  'test/control/keys/pepper-durable.test.ts',
  'test/servers/http.test.ts',
  'test/servers/websocket-endings.test.ts',
  'test/upstream/health.test.ts',
  'test/upstream/off-chain/slow-hosts.test.ts',
];

/** Holds the temporary files of all tests. The name is short because sockets have short paths. */
const temporary = mkdtempSync(join(tmpdir(), 'sw-'));
// PostgreSQL runs as another user.
chmodSync(temporary, 0o711);
// It may still be shutting down.
process.on('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 10 }));

export default defineConfig({
  test: {
    projects: [
      // Test files share a process: starting one for each takes a third of the time.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['{src,test}/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts'],
          exclude: ISOLATED,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
    // Programs that tests start read what was compiled for the first of them: a third of the time of a start.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'),
      TMPDIR: temporary,
      TESTED_PROGRAM: BUNDLED_PROGRAM,
    },
    globalSetup: [join(import.meta.dirname, 'test/project/bundle-program.ts')],
    setupFiles: [join(import.meta.dirname, 'test/project/property-sizes.ts')],
    pool: 'forks',
    // One more than the processors of a CI machine: tests also wait for programs and timers.
    maxWorkers: 3,
    sequence: { sequencer: ProgramsFirst },
    // A machine may pause for longer than the usual second.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new SkippedTests()],
  },
});
