"""A chat over a database in Streamlit: `SHOP_DB=shop.db streamlit run streamlit_app.py`."""

import os

import streamlit as st
from tableturn import SQLAgent


@st.cache_resource
def open_agent() -> SQLAgent:
    """One agent for all sessions; it may be used from any number of threads."""
    return SQLAgent(os.environ["SHOP_DB"], model=os.environ.get("SHOP_MODEL"))


st.title("Ask the shop")
if "chat" not in st.session_state:
    st.session_state.chat = open_agent().conversation()
    st.session_state.answers = []

if question := st.chat_input("Ask a question"):
    with st.spinner("Looking"):
        st.session_state.answers.append(st.session_state.chat.ask(question))

for answer in st.session_state.answers:
    st.chat_message("user").text(answer.question)
    with st.chat_message("assistant"):
        st.text(answer.text)  # text, not Markdown: it may quote what the database holds
        if answer.sql:
            st.code(answer.sql, language="sql")
        if answer.answered:
            st.dataframe(answer.to_dataframe())
            if answer.chart:
                st.vega_lite_chart(answer.chart)
