import { expect, test } from 'vitest'
import { page } from './html.ts'

const html = page('Page', '')

/** Relative luminance of a color such as `#7b838e` or `#fff` (WCAG 2.2). */
function toLuminance(color: string): number {
  const digits = color.slice(1).length === 3 ? color.slice(1).replace(/./g, '$&$&') : color.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const value = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function toContrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [toLuminance(one), toLuminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const themes = [...html.matchAll(/:root\{([^}]*--bg[^}]*)\}/g)].map(([, rules = '']) =>
  Object.fromEntries(
    [...rules.matchAll(/--(\w+):(#[\da-f]+)/g)].map(([, name = '', color = '']) => [name, color]),
  ),
)

test('[N9] fields and buttons have a border that can be seen, in both color schemes', () => {
  for (const element of ['input', 'button']) {
    expect(html).toMatch(new RegExp(`^${element}\\{[^}]*border:1px solid var\\(--edge\\)`, 'm'))
  }
  expect(themes).toHaveLength(2)
  for (const { edge = '', card = '' } of themes) {
    // WCAG 2.2, success criterion 1.4.11.
    expect(toContrast(edge, card)).toBeGreaterThanOrEqual(3)
  }
})

test('[N9] text can be read, in both color schemes', () => {
  for (const { accent = '', card = '', on = '', soft = '', text = '' } of themes) {
    // WCAG 2.2, success criterion 1.4.3.
    for (const [front, back] of [
      [text, card],
      [soft, card],
      [on, accent],
    ] as const)
      expect(toContrast(front, back)).toBeGreaterThanOrEqual(4.5)
  }
})
