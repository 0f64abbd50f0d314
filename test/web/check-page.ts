import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFaults } from './axe.ts';
import { settled } from './browser.ts';

const WIDE = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The contrast of a color cannot be measured during its transition to another theme. */
const END_ANIMATIONS = `
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish()`;

/** Captions of the tables that are not stacked on a phone, or scroll sideways. */
const WIDE_TABLES = `[...document.querySelectorAll('.table')].filter((one) => {
  const frame = one.closest('section');
  return !one.classList.contains('table-stacked') || frame.scrollWidth > frame.clientWidth;
}).map((one) => one.caption.textContent)`;

/** Pages whose tables are stacked on a phone. */
const STACKED = ['API keys', 'upstreams', 'errors', 'plans', 'plan change'];

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
  const isStacked = STACKED.includes(name);
  const wideTables = isStacked ? await page.evaluate(WIDE_TABLES) : [];
  const stackedFaults = isStacked ? await seriousFaults(page) : [];
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
  expect([wideTables, stackedFaults], `${name} on a phone`).toEqual([[], []]);
  expect(widest, `${name} on a phone scrolls sideways`).toBeLessThanOrEqual(PHONE.width);
}
