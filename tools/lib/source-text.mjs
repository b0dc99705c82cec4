/**
 * A TypeScript text with comments blanked out, and with the content of strings and regular
 * expressions blanked out as well if asked. Offsets and line breaks stay, so that findings keep
 * their line numbers. TypeScript 7 has no JavaScript API, hence this small scanner; it knows
 * template literals with nested expressions and tells a regular expression from a division by
 * what stands before it.
 *
 * @param {string} text
 * @param {{ strings?: boolean }} [options] `strings: false` keeps the content of plain strings
 */
export function blank(text, options = {}) {
  const scan = new Scan(text, options.strings ?? true)
  scan.code(false)
  return scan.out.join('')
}

const beforeRegExp =
  /(?:^|[=(,:;!&|?{}[\n+\-*%~^]|\b(?:return|typeof|case|in|of|delete|void|throw|await))\s*$/

class Scan {
  constructor(text, strings) {
    this.text = text
    this.strings = strings
    this.at = 0
    this.out = []
  }

  keep(count = 1) {
    this.out.push(this.text.slice(this.at, this.at + count))
    this.at += count
  }

  erase(count) {
    this.out.push(this.text.slice(this.at, this.at + count).replace(/[^\n]/g, ' '))
    this.at += count
  }

  code(inTemplate) {
    let depth = 0
    while (this.at < this.text.length) {
      const two = this.text.slice(this.at, this.at + 2)
      const one = two[0]
      if (two === '//') this.erase(this.until('\n') - this.at)
      else if (two === '/*') this.erase(this.after('*/') - this.at)
      else if (one === '"' || one === "'") this.quoted(one)
      else if (one === '`') this.template()
      else if (one === '/' && this.startsRegExp()) this.regExp()
      else {
        if (one === '{') depth += 1
        if (one === '}') {
          if (inTemplate && depth === 0) return
          depth -= 1
        }
        this.keep()
      }
    }
  }

  quoted(quote) {
    let end = this.at + 1
    while (end < this.text.length && this.text[end] !== quote && this.text[end] !== '\n') {
      end += this.text[end] === '\\' ? 2 : 1
    }
    this.keep()
    if (this.strings) this.erase(end - this.at)
    else this.keep(end - this.at)
    this.keep()
  }

  template() {
    this.keep()
    while (this.at < this.text.length && this.text[this.at] !== '`') {
      if (this.text.startsWith('${', this.at)) {
        this.keep(2)
        this.code(true)
        this.keep()
      } else this.erase(this.text[this.at] === '\\' ? 2 : 1)
    }
    this.keep()
  }

  startsRegExp() {
    return beforeRegExp.test(this.out.slice(-40).join('').slice(-40)) && this.regExpEnd() > 0
  }

  regExpEnd() {
    let inClass = false
    for (let index = this.at + 1; index < this.text.length; index += 1) {
      const char = this.text[index]
      if (char === '\n') return -1
      if (char === '\\') index += 1
      else if (char === '[') inClass = true
      else if (char === ']') inClass = false
      else if (char === '/' && !inClass) return index
    }
    return -1
  }

  regExp() {
    const end = this.regExpEnd()
    this.keep()
    this.erase(end - this.at)
    this.keep()
  }

  until(mark) {
    const found = this.text.indexOf(mark, this.at)
    return found === -1 ? this.text.length : found
  }

  after(mark) {
    const found = this.text.indexOf(mark, this.at + 2)
    return found === -1 ? this.text.length : found + mark.length
  }
}
