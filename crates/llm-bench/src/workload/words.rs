//! Text of a known number of tokens, without a tokenizer.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

/// Words that, with the space before them, are one token in the byte-pair vocabularies in use (GPT-2 and later, Llama,
/// Mistral, Qwen): the commonest of English.
const WORDS: [&str; 128] = [
    "time",
    "year",
    "people",
    "way",
    "day",
    "man",
    "thing",
    "woman",
    "life",
    "child",
    "world",
    "school",
    "state",
    "family",
    "student",
    "group",
    "country",
    "problem",
    "hand",
    "part",
    "place",
    "case",
    "week",
    "company",
    "system",
    "program",
    "question",
    "work",
    "government",
    "number",
    "night",
    "point",
    "home",
    "water",
    "room",
    "mother",
    "area",
    "money",
    "story",
    "fact",
    "month",
    "lot",
    "right",
    "study",
    "book",
    "eye",
    "job",
    "word",
    "business",
    "issue",
    "side",
    "kind",
    "head",
    "house",
    "service",
    "friend",
    "father",
    "power",
    "hour",
    "game",
    "line",
    "end",
    "member",
    "law",
    "car",
    "city",
    "community",
    "name",
    "president",
    "team",
    "minute",
    "idea",
    "kid",
    "body",
    "information",
    "back",
    "parent",
    "face",
    "others",
    "level",
    "office",
    "door",
    "health",
    "person",
    "art",
    "war",
    "history",
    "party",
    "result",
    "change",
    "morning",
    "reason",
    "research",
    "girl",
    "guy",
    "moment",
    "air",
    "teacher",
    "force",
    "education",
    "foot",
    "boy",
    "age",
    "policy",
    "process",
    "music",
    "market",
    "sense",
    "nation",
    "plan",
    "college",
    "interest",
    "death",
    "experience",
    "effect",
    "use",
    "class",
    "control",
    "field",
    "development",
    "role",
    "effort",
    "rate",
    "heart",
    "drug",
    "show",
    "leader",
    "light",
];

/// Appends `count` words to `text`.
pub(super) fn append(text: &mut String, count: u32, random: &mut Xoshiro256PlusPlus) {
    text.reserve(count as usize * 7);
    // Nine words from each draw of 64 bits, seven bits a word: prompts are made while requests are due.
    let mut bits = 0_u64;
    for number in 0..count {
        if number % 9 == 0 {
            bits = random.random();
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(WORDS.get((bits & 127) as usize).copied().unwrap_or("time"));
        bits >>= 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_text_has_as_many_words_as_were_asked_for() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for count in [0, 1, 9, 10, 1000] {
            let mut text = String::new();
            append(&mut text, count, &mut random);
            assert_eq!(text.split_whitespace().count(), count as usize);
        }
    }

    #[test]
    fn all_words_occur_and_differ() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut text = String::new();
        append(&mut text, 20_000, &mut random);
        let used: std::collections::HashSet<_> = text.split(' ').collect();
        assert_eq!(used.len(), WORDS.len());
    }
}
