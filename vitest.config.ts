import { defineConfig } from 'vitest/config';
import { SkippedTests } from './test/house/skipped-tests.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', new SkippedTests()],
  },
});
