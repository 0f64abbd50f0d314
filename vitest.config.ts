import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SkippedTests } from './test/project/skipped-tests.ts';

export default defineConfig({
  test: {
    projects: [
      // Rules and values, which keep nothing: a process is not begun for each file.
      {
        extends: true,
        test: { name: 'rules', include: ['src/**/*.test.ts', 'packages/*/src/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: { name: 'parts', include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], isolate: false },
      },
    ],
    // Programs that tests start read what was compiled for the first of them: a third of the time of a start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    setupFiles: [join(import.meta.dirname, 'test/project/property-sizes.ts')],
    pool: 'forks',
    maxWorkers: 2,
    // A machine may pause for longer than the usual second.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new SkippedTests()],
  },
});
