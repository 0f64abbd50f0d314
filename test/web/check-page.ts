import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFaults } from './axe.ts';
import { settled } from './browser.ts';

const WIDE = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The contrast of a color cannot be measured during its transition to another theme. */
const END_ANIMATIONS = `
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish()`;

/** Whether each table that is stacked on a phone scrolls sideways. */
const WIDE_TABLES = `[...document.querySelectorAll('.table-stacked')].map((one) => {
  const frame = one.closest('section');
  return frame.scrollWidth > frame.clientWidth;
})`;

/** Pages with a table that is stacked on a phone. */
const STACKED = ['API keys', 'upstreams'];

/** Checks with axe that a page is accessible in both themes, and that it does not scroll sideways on a phone. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page, ['color-contrast']), `${name}, dark`).toEqual([]);
  await page.setViewportSize(PHONE);
  const widest = await page.evaluate('document.documentElement.scrollWidth');
  const wideTables = await page.evaluate(WIDE_TABLES);
  const isStacked = STACKED.includes(name);
  const stackedFaults = isStacked ? await seriousFaults(page) : [];
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
  expect([wideTables, stackedFaults], `${name} on a phone`).toEqual([isStacked ? [false] : [], []]);
  expect(widest, `${name} on a phone scrolls sideways`).toBeLessThanOrEqual(PHONE.width);
}
