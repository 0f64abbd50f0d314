import type { Reporter, TestModule } from 'vitest/node';

/** Skipped tests by suite, such as `4 × recorded shreds (../shared/data, shreds)`. */
function skippedSuites(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`);
}

/**
 * Prints the skipped tests at the end of a run, so that tests skipped because shared data or a program is missing do
 * not look like passed tests.
 */
export class SkippedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map(({ parent }) =>
        parent.type === 'suite' ? parent.fullName : module.relativeModuleId,
      ),
    );
    if (names.length === 0) return;
    process.stdout.write(`\nSkipped tests (${names.length}):\n  ${skippedSuites(names).join('\n  ')}\n`);
  }
}
