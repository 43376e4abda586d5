// The search of the website: an index of all pages, which is read when somebody begins to type.
"use strict"

const box = document.querySelector("input[type=search]")
const list = document.getElementById("found")
let index = null

// A script, as a page that was opened from a disk may not fetch files.
function load(then) {
  if (index) return then()
  const script = document.createElement("script")
  script.src = box.dataset.up + "search-index.js"
  script.onload = () => {
    index = window.searchIndex.map(([title, address, kind, abstract, text]) => ({
      title, address, kind, abstract, names: title.toLowerCase().replace("litevault ", ""), text: (abstract + " " + text).toLowerCase(), words: text
    }))
    then()
  }
  document.head.append(script)
}

// Every word has to be in the page. Titles count most, those that begin with the word above all; articles and commands come before
// symbols, as they say what to do.
function score(page, words) {
  let sum = page.text.includes(words.join(" ")) ? 3 : 0
  for (const word of words) {
    if (page.names === word) sum += 100
    else if (page.names.startsWith(word)) sum += 40
    else if (page.names.includes(word)) sum += 20
    else if (page.text.includes(word)) sum += 1
    else return 0
  }
  return sum + (page.words ? 30 : 0) - page.names.length / 100
}

// A piece of an article around the first word, if the abstract lacks it.
function excerpt(page, word) {
  const place = page.words.toLowerCase().indexOf(word)
  if (place < 0 || page.abstract.toLowerCase().includes(word)) return page.abstract
  return "… " + page.words.slice(Math.max(0, place - 60), place + 100) + " …"
}

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word.length > 1 || box.value.length < 3)
  list.replaceChildren()
  if (!words.length) return
  const found = index.map(page => ({ page, score: score(page, words) })).filter(one => one.score > 0)
    .sort((a, b) => b.score - a.score).slice(0, 30)
  for (const { page } of found) {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p")
    link.href = box.dataset.up + page.address
    link.textContent = page.title
    text.textContent = `${page.kind}: ${excerpt(page, words[0])}`
    item.append(link, text)
    list.append(item)
  }
  if (!found.length) {
    const item = document.createElement("li")
    item.textContent = "Nothing found"
    list.append(item)
  }
}

if (box) {
  box.addEventListener("input", () => load(show))
  box.addEventListener("keydown", event => {
    if (event.key === "Escape") { box.value = ""; list.replaceChildren() }
    if (event.key === "Enter") list.querySelector("a")?.click()
  })
  // "/" leads to the search, as on other sites of documentation.
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus() }
  })
}
