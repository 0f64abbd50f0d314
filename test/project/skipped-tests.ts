import type { Reporter, TestModule } from 'vitest/node';

/** Tests that did not run, by their suites: `4 × recorded shreds (../shared/data, shreds)`. */
function skippedSuites(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`);
}

/**
 * Ends a run with the names of what it skipped, for want of shared data or of a program: what was not looked at should
 * not look as if it had been.
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
