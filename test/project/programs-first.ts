import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose tests start whole programs and take longest. */
const PROGRAMS = /\/test\/(?:clients|cluster|conformance|hardening|service|web)\//;

const startsPrograms = ({ moduleId }: TestSpecification): boolean => PROGRAMS.test(moduleId);

/** Starts slow files first, so that no worker is left with one at the end. Without results, Vitest orders by size. */
export class ProgramsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...byProject.values()].flatMap((ofProject) =>
      ofProject.toSorted((one, other) => Number(startsPrograms(other)) - Number(startsPrograms(one))),
    );
  }
}
